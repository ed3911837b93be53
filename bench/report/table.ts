import { CONTESTANTS, type ContestantName, EVERYBODY, TITLES } from '../contestants/contestant.js';
import { shown } from './numbers.js';
import type { BenchmarkResult, Results, Setting } from './results.js';
import type { Summary } from './statistics.js';

/** The results as Markdown: for each benchmark the figures, the bars, and how everything was set up. */
export function toTable(results: Results): string {
  const sections = Object.entries(results).map(([name, result]) => sectionOf(name, result));
  return [`# Figures`, legend(), ...sections, configurations(results), settings(results)].join('\n\n').concat('\n');
}

function legend(): string {
  return 'Medians of the rounds, the lowest and the highest in brackets; ratios are those of medians, but where two cases of this library are compared: the median of the ratios of all rounds. N/A: not a thing that this contestant does, or not measured.';
}

/** Also what is printed when one benchmark has ended. */
export function sectionOf(name: string, { about, figures, bars, problems, setting }: BenchmarkResult): string {
  const columns = CONTESTANTS.filter((name) => EVERYBODY.includes(name) || figures.some(({ by }) => by[name]));
  const head = ['', ...columns.map((contestant) => TITLES[contestant]), '× BullMQ', '× floor'];
  const rows = figures.map(({ title, unit, by }) => [
    unit ? `${title} (${unit})` : title,
    ...columns.map((contestant) => cell(by[contestant])),
    ratio(by, 'bullmq'),
    ratio(by, 'floor'),
  ]);
  const parts = [`## ${name}`, about, [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')];
  if (bars.length > 0) parts.push(bars.map(barLine).join('\n'));
  if (problems.length > 0) parts.push(problems.map((problem) => `- **Not measured:** ${problem}`).join('\n'));
  if (setting.quick) parts.push('*A quick run: these figures and verdicts mean nothing.*');
  return parts.join('\n\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function cell(summary: Summary | undefined): string {
  if (!summary) return 'N/A';
  const { median, min, max, rounds } = summary;
  return rounds.length === 1 ? shown(median) : `${shown(median)} (${shown(min)}–${shown(max)})`;
}

function ratio(by: Partial<Record<ContestantName, Summary>>, other: ContestantName): string {
  const [mine, theirs] = [by.ours?.median, by[other]?.median];
  // Something over nothing says nothing, and a lateness of 0 ms is nothing.
  return mine === undefined || !theirs ? 'N/A' : shown(mine / theirs);
}

function barLine({ says, value, met, aimMet }: BenchmarkResult['bars'][number]): string {
  if (value === undefined) return `- ${says}: not measured`;
  const aim = aimMet === undefined || !met ? '' : aimMet ? ', and the aim' : ', not the aim';
  return `- ${says}: ${shown(value)}, **${met ? 'met' : 'not met'}**${aim}`;
}

function configurations(results: Results): string {
  const all = new Map<string, string>();
  for (const { configured } of Object.values(results)) {
    for (const [contestant, text] of Object.entries(configured)) all.set(TITLES[contestant as ContestantName], text);
  }
  return ['## How each is used', [...all].map(([title, text]) => `- **${title}**: ${text}.`).join('\n')].join('\n\n');
}

/** What was measured alike is told once, with the loads that it found. */
function settings(results: Results): string {
  const runs = new Map<string, { names: string[]; loads: number[] }>();
  for (const [name, { setting }] of Object.entries(results)) {
    const text = settingLine(setting);
    const { names, loads } = runs.get(text) ?? { names: [], loads: [] };
    runs.set(text, { names: [...names, name], loads: [...loads, setting.loadBefore] });
  }
  const lines = [...runs].map(
    ([text, { names, loads }]) =>
      `- ${names.join(', ')}: ${text}; load average before ${shown(Math.min(...loads))} to ${shown(Math.max(...loads))}`,
  );
  return ['## Measured', lines.join('\n')].join('\n\n');
}

function settingLine({ at, command, commit, machine, versions, rounds }: Setting): string {
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${at.slice(0, 10)}, commit ${commit}, rounds: ${rounds}, \`${command}\`, ${machine}; ${used.join(', ')}`;
}
