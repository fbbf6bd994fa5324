SELECT
  symbol,
  window.start AS minute,
  first(price) AS open,
  max(price) AS high,
  min(price) AS low,
  last(price) AS close,
  sum(volume) AS volume
FROM trades
GROUP BY symbol, window(ts, '1 minute')
