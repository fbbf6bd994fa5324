SELECT
  machine,
  window,
  count(*) AS readings,
  count(*) FILTER (WHERE alarm) AS alarms,
  max(temperature) AS hottest
FROM sensors
WHERE running
GROUP BY machine, window(ts, '10 minutes', '1 minute')
