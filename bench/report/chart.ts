import { CONTESTANTS, type ContestantName, TITLES } from '../contestants/contestant.js';
import { shown } from './numbers.js';
import type { Results } from './results.js';
import type { Summary } from './statistics.js';

/** What the chart shows of each benchmark, where it was measured. */
const SHOWN: readonly [benchmark: string, figure: string][] = [
  ['drain', 'rateAt1'],
  ['drain', 'rateAt10'],
  ['drain', 'rate'],
  ['schedule-one', 'rate'],
  ['schedule', 'rate'],
  ['bulk', 'rate'],
  ['steady', 'redisCpu200By1'],
  ['steady', 'redisCpu200By8'],
  ['steady', 'redisCpu2000By1'],
  ['drain', 'redisCpu'],
  ['drain', 'nodeCpu'],
  ['memory', 'waiting'],
  ['lateness', 'p99at200'],
  ['single', 'p50'],
  ['burst', 'last'],
];

const COLOURS: Readonly<Record<ContestantName, string>> = {
  ours: '#2f6fde',
  bullmq: '#c2571a',
  'bee-queue': '#b8961e',
  groupmq: '#5b8c3e',
  floor: '#8a8f98',
};

const COLUMNS = 3;
const PANEL = { width: 300, height: 140, gap: 24 };
const BAR = { left: 84, height: 16, step: 22, top: 38, longest: 140 };
const MARGIN = 20;

interface Panel {
  title: string;
  better: 'more' | 'less';
  by: Partial<Record<ContestantName, Summary>>;
}

/** Small bar charts beside each other, one for each figure, as an SVG of its own that reads on light and dark pages. */
export function toChart(results: Results): string {
  const panels = SHOWN.flatMap(([name, key]) => panelOf(results, name, key));
  const rows = Math.max(1, Math.ceil(panels.length / COLUMNS));
  const width = 2 * MARGIN + COLUMNS * PANEL.width + (COLUMNS - 1) * PANEL.gap;
  const height = 2 * MARGIN + rows * PANEL.height + (rows - 1) * PANEL.gap;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Figures of this library beside those of BullMQ, bee-queue and the floor">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600}.hint{fill:#656d76;font-size:11px}</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>`,
    ...panels.map(drawPanel),
    '</svg>',
    '',
  ].join('\n');
}

function panelOf(results: Results, name: string, key: string): Panel[] {
  const figure = results[name]?.figures.find((each) => each.key === key);
  if (!figure?.by.ours) return [];
  return [{ title: `${figure.title}, ${figure.unit}`, better: figure.better, by: figure.by }];
}

function drawPanel({ title, better, by }: Panel, i: number): string {
  const x = MARGIN + (i % COLUMNS) * (PANEL.width + PANEL.gap);
  const y = MARGIN + Math.floor(i / COLUMNS) * (PANEL.height + PANEL.gap);
  const measured = CONTESTANTS.filter((contestant) => by[contestant]);
  const most = Math.max(...measured.map((contestant) => by[contestant]!.median));
  const bars = measured.map((contestant, row) => drawBar(contestant, by[contestant]!.median, most, row));
  return [
    `<g transform="translate(${x} ${y})">`,
    `<text class="title" y="12">${escaped(title)}</text>`,
    `<text class="hint" y="28">${better} is better</text>`,
    ...bars,
    '</g>',
  ].join('');
}

function drawBar(contestant: ContestantName, value: number, most: number, row: number): string {
  const y = BAR.top + row * BAR.step;
  // One pixel at least, so that next to nothing is seen to be there.
  const length = Math.max(1, most === 0 ? 0 : (value / most) * BAR.longest).toFixed(1);
  return [
    `<text x="${BAR.left - 6}" y="${y + 12}" text-anchor="end">${escaped(TITLES[contestant])}</text>`,
    `<rect x="${BAR.left}" y="${y}" width="${length}" height="${BAR.height}" rx="2" fill="${COLOURS[contestant]}"/>`,
    `<text x="${BAR.left + Number(length) + 6}" y="${y + 12}">${escaped(shown(value))}</text>`,
  ].join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]!);
}
