/** Draws cron expressions that are likely to meet a wall time: its hour, its date, its weekday. */
export function randomCron(random: () => number, nearMs: number): string {
  const below = (n: number) => Math.floor(random() * n);
  const pick = (...from: (string | number)[]) => from[below(from.length)]!;
  const some = (n: number, draw: () => string | number) => Array.from({ length: 1 + below(n) }, draw).join(',');
  const near = new Date(nearMs);
  const date = near.getUTCDate();
  const month = near.getUTCMonth() + 1;
  const year = near.getUTCFullYear();
  const hour = () => (near.getUTCHours() + 22 + below(5)) % 24;
  const day = () => Math.min(Math.max(date + below(3) - 1, 1), 31);
  const weekday = () =>
    pick((near.getUTCDay() + 6 + below(3)) % 7, below(8), pick('SUN', 'mon', 'TUE', 'Wed', 'THU', 'FRI', 'SAT'));
  const range = (first: number, last: number) => {
    const from = first + below(last - first);
    return `${from}-${from + below(last - from + 1)}`;
  };

  const second = () =>
    pick(
      below(60),
      some(3, () => below(60)),
      `*/${pick(10, 15, 20, 59)}`,
      `${range(0, 59)}/7`,
    );
  const minute = () =>
    pick(
      '0',
      below(60),
      some(4, () => below(60)),
      `*/${1 + below(59)}`,
      '*',
      range(0, 59),
      `${range(0, 59)}/${1 + below(20)}`,
    );
  const hours = () =>
    pick('*', '?', '0-23', hour(), hour(), some(4, hour), `*/${2 + below(10)}`, '0-22', '1-23', range(0, 23));
  const days = () =>
    pick('*', '*', '?', day(), some(3, day), 'L', 'LW', `${day()}W`, `L,${day()}`, range(1, 31), `*/${1 + below(5)}`);
  const months = () =>
    pick(
      '*',
      '*',
      month,
      `${month},${1 + below(12)}`,
      '*/1',
      range(1, 12),
      'JAN-DEC',
      pick('mar', 'APR', 'OCT', 'Nov'),
    );
  const weekdays = () =>
    pick(
      '*',
      '*',
      '?',
      weekday(),
      some(3, weekday),
      'MON-FRI',
      '6-7',
      'FRI-SUN',
      `${weekday()}#${1 + below(5)}`,
      `${weekday()}L`,
      `${weekday()}#L`,
      `+${weekday()}`,
      `+${weekday()}#${1 + below(5)},${weekday()}L`,
      `1-6/${1 + below(3)}`,
    );

  const fields = [minute(), hours(), days(), months(), weekdays()];
  if (random() < 0.3) fields.unshift(second());
  if (fields.length === 6 && random() < 0.3) fields.push(pick('*', year, `${year - 1},${year}`, `${year}-${year + 1}`));
  return fields.join(' ');
}
