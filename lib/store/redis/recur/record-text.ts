import { createHash } from 'node:crypto';
import { parseRuleText, ruleText } from '../../../core/calendar/read-rule.js';
import type { OnMissed, Overlap, Rule } from '../../../core/calendar/rule.js';
import type { Declarer, NewRecurrence, RecurrenceState, StoredRecurrence } from '../../recurrences.js';
import {
  decodeEnvelope,
  encodeCodec,
  encodeFlags,
  encodeRoute,
  encodeSettings,
  withPayload,
} from '../codec/envelope-text.js';

// How a recurrence stands in Redis: its record, and its state in the timetable. scripts/recur/record.lua tells the format.

const ON_MISSED: Record<OnMissed, string> = { skip: 's', once: 'o', all: 'a' };
const OVERLAP: Record<Overlap, string> = { allow: 'a', skip: 's', queue: 'q' };
const STATES: Record<string, RecurrenceState> = { a: 'active', p: 'paused', e: 'ended' };

/** How much of a digest tells two timings of one recurrence apart. */
const DIGEST_LENGTH = 10;

const LINES_BEFORE_REST = 4;

/** What a record is made of, but for the version and who declares it. */
export interface RecordParts {
  head: string;
  ruleText: string;
  route: string;
  rest: string | Buffer;
}

export function encodeRecord({ rule, job }: NewRecurrence): RecordParts {
  const { timing } = rule;
  const numbers = [
    isReckonedInRedis(rule) ? timing.everyMs! : 0,
    timing.offsetMs,
    timing.startAtMs ?? 0,
    timing.endAtMs ?? 0,
    ON_MISSED[rule.onMissed],
    rule.missedWithinMs ?? '-',
    OVERLAP[rule.overlap],
    rule.limit ?? 0,
    rule.jitterMs,
    digestOf(rule),
  ];
  const text = ` ${encodeFlags(true, job, true)}${encodeCodec(job)}${encodeSettings(job)}\n`;
  return {
    head: numbers.join(' '),
    ruleText: ruleText(rule),
    route: encodeRoute(job),
    rest: withPayload(text, job.payload),
  };
}

/** Of all others a process reckons the instants. */
export function isReckonedInRedis({ timing }: Rule): boolean {
  return timing.everyMs !== undefined && timing.exclude.length === 0;
}

/** Equal timings have equal ones, whatever else their rules say. */
function digestOf({ timing }: Rule): string {
  const text = ruleText({ timing, onMissed: 'once', overlap: 'allow', jitterMs: 0 });
  return createHash('sha1').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

/** `undefined` where there is none, or none that is listed, or where somebody has damaged it. */
export function decodeRecurrence(id: string, record: string | Buffer, state: string): StoredRecurrence | undefined {
  const parts = splitRecord(record);
  const { letter, armedAtMs, beganAtMs, count, reason } = decodeState(state);
  if (!parts || !STATES[letter]) return undefined;
  return {
    id,
    rule: parseRuleText(parts.ruleText),
    template: decodeEnvelope(parts.envelope),
    state: STATES[letter],
    ...(reason && { reason }),
    nextAtMs: armedAtMs || null,
    lastAtMs: beganAtMs || null,
    count,
    ...(parts.owner !== '' && { declaredBy: decodeOwner(parts.owner) }),
  };
}

function splitRecord(record: string | Buffer) {
  let end = -1;
  const ends: number[] = [];
  for (let line = 0; line < LINES_BEFORE_REST; line++) {
    end = record.indexOf('\n', end + 1);
    if (end < 0) return undefined;
    ends.push(end);
  }
  const [first, second, third, fourth] = ends as [number, number, number, number];
  const text = (from: number, to: number) =>
    typeof record === 'string' ? record.slice(from, to) : record.toString('utf8', from, to);
  const route = text(third + 1, fourth);
  const rest = typeof record === 'string' ? record.slice(fourth + 1) : record.subarray(fourth + 1);
  const envelope = typeof rest === 'string' ? `${route}\n0${rest}` : Buffer.concat([Buffer.from(`${route}\n0`), rest]);
  return { owner: text(first + 1, second), ruleText: text(second + 1, third), envelope };
}

/** "<digest> <revision, - = none> <started> <app>", as a declaration writes it. */
function decodeOwner(owner: string): Declarer {
  const [, revision, startedAtMs, app = ''] = owner.match(/^\S* (\S+) (\d+) (.*)$/) ?? [];
  return {
    app,
    ...(revision !== undefined && revision !== '-' && { revision: Number(revision) }),
    ...(startedAtMs !== undefined && { startedAtMs: Number(startedAtMs) }),
  };
}

/** A state of the timetable, all 0 where somebody has damaged it. */
function decodeState(state: string) {
  const [, letter = '', ...rest] = state.match(/^(\w) (\d+) \d+ (\d+) (\d+) (\d+) [^|]*\|[^\n]*\n?([\s\S]*)$/) ?? [];
  const [armedAtMs = 0, beganAtMs = 0, count = 0, blockedDueAtMs = 0] = rest.slice(0, -1).map(Number);
  return { letter, armedAtMs, beganAtMs, count, blockedDueAtMs, reason: rest.at(-1) };
}

/** By a state of the timetable, where the armed occurrence at `atMs` waits for the end of another: the instant of that one, and its own due time. */
export function blockedBy(state: string, atMs: number): { beganAtMs: number; dueAtMs: number } | undefined {
  const { armedAtMs, beganAtMs, blockedDueAtMs } = decodeState(state);
  return armedAtMs === atMs && blockedDueAtMs > 0 && beganAtMs > 0 ? { beganAtMs, dueAtMs: blockedDueAtMs } : undefined;
}
