SELECT symbol AS ticker, window.end AS until, max_by(price, volume) AS busiest_price
FROM trades t
WHERE t.exchange IN ('NYSE', 'NASDAQ') AND t.volume > 0
GROUP BY symbol, window(ts, '15 minutes', '1 minute')
