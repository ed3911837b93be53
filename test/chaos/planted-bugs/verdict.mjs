/**
 * What came of a run of the chaos suite.
 *
 * @typedef {object} Run
 * @property {number | null} status How its process ended.
 * @property {string} output What it printed.
 * @property {{ violations: { rule: string, token?: string, message: string }[], figures: Record<string, number> }} [report]
 *   As `--report` writes it; missing where the run has not come to its end.
 * @property {string} logs Its history and what its processes logged; empty where nothing was wrong.
 */

/** @typedef {{ kind: 'found' | 'missed' | 'failed', text: string }} Verdict */

/** A run in which fewer jobs end well shows nothing: not even quick jobs run. */
const COMPLETED_AT_LEAST = 5;

/** Violated as well where nothing works at all. A script that stops with an error shows itself by these, be it misspelt. */
const STANDSTILL = ['everybody-lives', 'nothing-lost', 'nothing-untoward', 'leaves-in-time'];

/**
 * Judges the run of a copy in which a bug is planted: found, where a rule is violated that the bug names. A run that does not
 * come to its end, or in which hardly anything happens, has failed, whatever it violates. So has one in which a script stopped
 * with an error, unless it violates a rule that the bug names and a standstill does not explain: a bug may leave behind what no
 * script can go on with.
 *
 * @param {readonly string[]} rules
 * @param {Run} run
 * @returns {Verdict}
 */
export function judgePlanted(rules, run) {
  const failure = failureOf(run);
  if (failure) return { kind: 'failed', text: failure };
  const { violations } = run.report;
  const stop = scriptError(run);
  const found = violations.filter(({ rule }) => rules.includes(rule) && !(stop && STANDSTILL.includes(rule)));
  if (found.length === 0 && stop) return { kind: 'failed', text: stop };
  if (found.length > 0) return { kind: 'found', text: tell(found) };
  return { kind: 'missed', text: `no violation of ${rules.join(' or ')}; of other rules: ${tell(violations)}` };
}

/**
 * Judges the run of a copy as it is: it must come to its end without any violation. Undefined where it does.
 *
 * @param {Run} run
 * @returns {string | undefined}
 */
export function problemOfUnplanted(run) {
  const failure = failureOf(run) ?? scriptError(run);
  if (failure) return failure;
  const { violations } = run.report;
  return violations.length > 0 ? tell(violations) : undefined;
}

/** @param {Run} run */
function failureOf({ status, output, report }) {
  if (!report) return `the run ended with ${status} before its end: ${lastLines(output)}`;
  const { completed } = report.figures;
  if (completed < COMPLETED_AT_LEAST)
    return `only ${completed} jobs have completed, expected ${COMPLETED_AT_LEAST} or more`;
  return undefined;
}

/** @param {Run} run */
function scriptError({ logs }) {
  const [line] = logs.match(/[^\n]*user_script:[^\n]*/) ?? [];
  return line && `a script stopped with an error: ${line.slice(0, 300)}`;
}

/** How many violations of each rule, and the first three of all. */
function tell(violations) {
  if (violations.length === 0) return 'none';
  const counts = new Map();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const heads = [...counts].map(([rule, count]) => `${rule}: ${count}`).join(', ');
  const shown = violations
    .slice(0, 3)
    .map(({ rule, token, message }) => `\n  ${rule}${token ? ` ${token}` : ''}: ${message}`);
  return heads + shown.join('');
}

function lastLines(output) {
  return output.trim().split('\n').slice(-5).join('\n');
}
