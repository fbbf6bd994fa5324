SELECT symbol, exchange, window, max(price) - min(price) AS spread
FROM trades
GROUP BY symbol, exchange, window(ts, '5 minutes', '30 seconds')
