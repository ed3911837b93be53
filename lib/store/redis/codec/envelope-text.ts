import { SET_BYTE } from '../../../core/constants.js';
import type { LatenessRule, OnLate } from '../../../core/job/definition.js';
import type { JobSetDone } from '../../../core/job/job-set.js';
import type { NewChain, StoredChain, StoredStep } from '../../../core/job/new-job.js';
import { asBuffer } from '../../../core/payload/codecs.js';
import type { Envelope, EnvelopeSettings, Unreadable } from '../../envelope.js';
import type { NewJob } from '../../job-store.js';
import { decodeGroup, encodeGroup } from './group-text.js';
import { BEFORE_VERSION, versionedName } from './versioned-name.js';

// An envelope as text, or, where a codec has made the payload, as bytes that begin with text:
//
//     <priority>:<worker>:<name>      the route: the lane, which the scripts read (in the middle the worker that it prefers, '@' and its group, or
//                                     nothing; the name with its version, see versioned-name.ts), and before it, where there is one, the late rule and a space: r (run), d (discard) or x (dead-letter) and the longest lateness in ms
//     <created, epoch ms> <flags>     by Redis' clock; flag `c`: the caller chose the id; `o`: an occurrence of a recurrence, `m`: a missed one that is
//                                     made up for; `w`, before them: of a row with a longest wait, `created` is that of its first job (see
//                                     scripts/schedule/when.lua); `t`: a chain goes on after it; then its set, behind a tab and SET_BYTE, and the tags, a
//                                     tab before each, which is no printable character
//     <codec><settings>               of a payload that is not JSON: `t:` (text) or `b:` (bytes) and the id of its codec; then JSON of
//                                     what the call itself said, headers last (see scripts/turn/relay/read.lua), or nothing; then, behind a tab
//                                     each, which JSON does not hold: `c` and JSON of its chain, then `n` and JSON of each step that follows; of a completion job `s`, JSON of the id of its set,
//                                     and how many members there were, have completed, are dead, were discarded, were cancelled
//     <payload>                       as serialised or encoded; it may hold anything, line breaks too
//
// The codec stands in the third line because no script but that of the relay reads it.

const NO_SETTINGS: EnvelopeSettings = Object.freeze({});

/** One for all: none is made for each job. */
const NO_TAGS: readonly string[] = [];

/** What stands before a codec's id. */
const TEXT = 't';
const BYTES = 'b';
const CODEC = /^[tb]:([A-Za-z0-9._-]+)(?=\{|\t|$)/;
/** Behind the letter and the colon. */
const CODEC_START = 2;

/** What stands before a group in a lane; no worker's id begins so. */
const GROUP = '@';

const LINE_END = 10;

/** What stands before a set among the tags. */
const BEFORE_SET = String.fromCharCode(SET_BYTE);
/** In the place of a tag, by which the members of a set are found. */
export const setTag = (set: string) => BEFORE_SET + set;

/** What the further parts of the third line begin with. */
const CHAIN = 'c';
const STEP = 'n';
const SET_DONE = 's';

const LATE_RULES: Record<OnLate, string> = { run: 'r', discard: 'd', 'dead-letter': 'x' };

/** What a late rule's letter means. */
export function onLateOf(letter: string): OnLate {
  return (Object.keys(LATE_RULES) as OnLate[]).find((onLate) => LATE_RULES[onLate] === letter)!;
}

/** An envelope's first line. */
export function encodeRoute(
  job: Pick<NewJob, 'priority' | 'worker' | 'group' | 'name' | 'version' | 'lateness'>,
): string {
  const source = job.group === undefined ? (job.worker ?? '') : GROUP + encodeGroup(job.group);
  const lane = `${job.priority}:${source}:${versionedName(job.name, job.version)}`;
  const { lateness } = job;
  return lateness ? `${LATE_RULES[lateness.onLate]}${lateness.maxLatenessMs} ${lane}` : lane;
}

/** Flags, set and tags, with the end of their line. */
export function encodeFlags(
  idWasChosen: boolean,
  { tags = NO_TAGS, set, chain }: Pick<NewJob, 'tags' | 'set' | 'chain'>,
  isOccurrence = false,
): string {
  const tagged = tags.map((tag) => `\t${tag}`).join('');
  const ofSet = set === undefined ? '' : `\t${setTag(set)}`;
  const goesOn = chain !== undefined && chain.steps.length > 0;
  return `${idWasChosen ? 'c' : ''}${isOccurrence ? 'o' : ''}${goesOn ? 't' : ''}${ofSet}${tagged}\n`;
}

/** The third line behind its codec, without its end; `''` where the call itself said nothing. */
export function encodeSettings({ settings, chain }: Pick<NewJob, 'settings' | 'chain'>): string {
  const { maxAttempts, backoff, timeoutMs, headers } = settings;
  const said = maxAttempts !== undefined || backoff !== undefined || timeoutMs !== undefined || headers !== undefined;
  const text = said ? JSON.stringify({ maxAttempts, backoff, timeoutMs, headers }) : '';
  return chain === undefined ? text : `${text}\t${CHAIN}${encodeChain(chain)}`;
}

/** The result is JSON already. */
function encodeChain({ id, step, of, steps, result }: NewChain): string {
  let text = JSON.stringify({ id, step, of });
  if (result !== undefined) text = `${text.slice(0, -1)},"result":${result}}`;
  for (const each of steps) text += `\t${STEP}${each}`;
  return text;
}

/** What the third line of a completion job ends with, before the script that schedules it adds the numbers. */
export function encodeSetOfCompletion(id: string): string {
  return `\t${SET_DONE}${JSON.stringify(id)}`;
}

/** What the third line begins with; `''` for JSON. */
export function encodeCodec({ codec, payload }: Pick<Envelope, 'codec' | 'payload'>): string {
  if (codec === undefined) return '';
  return `${typeof payload === 'string' ? TEXT : BYTES}:${codec}`;
}

/** The rest of an envelope, from its flags on. `idWasChosen`: whether its id is remembered. */
export function encodeRest(job: RestOfJob, idWasChosen = true): string | Buffer {
  const text = `${encodeFlags(idWasChosen, job)}${encodeCodec(job)}${encodeSettings(job)}\n`;
  return withPayload(text, job.payload);
}

type RestOfJob = Pick<NewJob, 'tags' | 'set' | 'chain' | 'codec' | 'settings' | 'payload'>;

/** Text, and a payload behind it. */
export function withPayload(text: string, payload: string | Uint8Array): string | Buffer {
  if (typeof payload === 'string') return text + payload;
  return text === '' ? asBuffer(payload) : Buffer.concat([Buffer.from(text), payload]);
}

/** Reads an envelope. Never throws. */
export function decodeEnvelope(stored: string | Buffer): Envelope | Unreadable {
  return typeof stored === 'string' ? decodeText(stored) : decodeBytes(stored);
}

function decodeBytes(stored: Buffer): Envelope | Unreadable {
  const createdEnd = stored.indexOf(LINE_END, stored.indexOf(LINE_END) + 1);
  const settingsEnd = stored.indexOf(LINE_END, createdEnd + 1);
  const envelope = decodeText(stored.toString('utf8', 0, settingsEnd + 1));
  if ('unreadable' in envelope) return envelope;
  const isBytes = envelope.codec !== undefined && stored.toString('latin1', createdEnd + 1, createdEnd + 2) === BYTES;
  // A copy: a part of the reply would keep all of it in memory for as long as a handler keeps a part of its payload.
  const payload = isBytes ? Buffer.from(stored.subarray(settingsEnd + 1)) : stored.toString('utf8', settingsEnd + 1);
  return { ...envelope, payload };
}

function decodeText(text: string): Envelope | Unreadable {
  const routeEnd = text.indexOf('\n');
  const createdEnd = text.indexOf('\n', routeEnd + 1);
  const settingsEnd = text.indexOf('\n', createdEnd + 1);
  if (routeEnd < 0 || createdEnd < 0 || settingsEnd < 0)
    return { unreadable: 'the envelope has fewer than four parts' };
  const third = text.slice(createdEnd + 1, settingsEnd);
  const codec = third === '' || third[0] === '{' ? undefined : third.match(CODEC)?.[1];
  const parts = codec === undefined ? third : third.slice(CODEC_START + codec.length);
  const tab = parts.indexOf('\t');
  const said = tab < 0 ? parts : parts.slice(0, tab);
  const settings = said === '' ? NO_SETTINGS : decodeSettings(said);
  if (typeof settings === 'string') return { unreadable: settings };
  const route = text.slice(0, routeEnd);
  // A lane begins with a digit, a late rule with a letter.
  const laneStart = route >= 'a' ? route.indexOf(' ') + 1 : 0;
  const priorityEnd = route.indexOf(':', laneStart);
  const workerEnd = route.indexOf(':', priorityEnd + 1);
  const versionAt = route.indexOf(BEFORE_VERSION, workerEnd);
  const [created = '', ...tags] = text.slice(routeEnd + 1, createdEnd).split('\t');
  const set = tags[0]?.startsWith(BEFORE_SET) ? tags.shift()!.slice(1) : undefined;
  const more = tab < 0 ? undefined : decodeFurther(parts.slice(tab + 1).split('\t'));
  if (typeof more === 'string') return { unreadable: more };
  const space = created.indexOf(' ');
  const isOccurrence = created.includes('o', space);
  const envelope: Envelope = {
    name: versionAt < 0 ? route.slice(workerEnd + 1) : route.slice(workerEnd + 1, versionAt),
    priority: Number(route.slice(laneStart, priorityEnd)),
    ...(workerEnd > priorityEnd + 1 && decodeSource(route.slice(priorityEnd + 1, workerEnd))),
    createdAtMs: Number(created.slice(0, space)),
    idWasChosen: created.includes('c', space),
    tags,
    ...(set !== undefined && { set }),
    ...more,
    ...(isOccurrence && { occurrence: { isMissed: created.includes('m', space) } }),
    settings,
    ...(laneStart > 0 && { lateness: decodeLateRule(route.slice(0, laneStart - 1)) }),
    ...(codec !== undefined && { codec }),
    payload: text.slice(settingsEnd + 1),
  };
  return versionAt < 0 ? envelope : { ...envelope, version: Number(route.slice(versionAt + 1)) };
}

/** Or says what is wrong. Nothing of it is told: a chain holds payloads. */
function decodeFurther(parts: readonly string[]): Pick<Envelope, 'chain' | 'setDone'> | string {
  const read: { chain?: StoredChain; setDone?: JobSetDone } = {};
  const steps: string[] = [];
  for (const part of parts) {
    try {
      if (part.startsWith(STEP)) steps.push(part.slice(1));
      else if (part.startsWith(CHAIN)) read.chain = JSON.parse(part.slice(1));
      else if (part.startsWith(SET_DONE)) read.setDone = decodeSetDone(part.slice(1));
    } catch {
      return 'what the envelope says of its chain or its set cannot be read';
    }
  }
  if (!('chain' in read) && steps.length === 0) return read;
  const chain = withSteps(read.chain, steps);
  return chain ? { ...read, chain } : 'what the envelope says of its chain cannot be read';
}

/**
 * `undefined` where the chain or its next step is damaged, as a worker makes the next job of them. Steps stand behind the chain: one that holds them
 * itself would lose them.
 */
function withSteps(chain: StoredChain | undefined, [first, ...later]: string[]): StoredChain | undefined {
  if (!chain || !Number.isSafeInteger(chain.step) || !Number.isSafeInteger(chain.of) || chain.next) return undefined;
  if (first === undefined) return { ...chain, later };
  const next = readStep(first);
  return next && { ...chain, next, later };
}

function readStep(text: string): StoredStep | undefined {
  let step: StoredStep | null;
  try {
    step = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof step !== 'object' || step === null) return undefined;
  const { name, priority, delayMs, payload, encoding } = step;
  if (typeof name !== 'string' || typeof payload !== 'string') return undefined;
  const isSound = Number.isSafeInteger(priority) && isDelay(delayMs) && (encoding ?? 'base64') === 'base64';
  return isSound ? step : undefined;
}

const isDelay = (delayMs: unknown) => Number.isSafeInteger(delayMs) && (delayMs as number) >= 0;

function decodeSetDone(text: string): JobSetDone {
  const numbersAt = text.lastIndexOf('"') + 1;
  const [, total, completed, dead, discarded, cancelled] = text.slice(numbersAt).split(' ').map(Number);
  return {
    id: JSON.parse(text.slice(0, numbersAt)),
    total: total!,
    completed: completed!,
    dead: dead!,
    discarded: discarded!,
    cancelled: cancelled!,
  };
}

function decodeSource(source: string): Pick<Envelope, 'worker' | 'group'> {
  return source.startsWith(GROUP) ? { group: decodeGroup(source.slice(1)) } : { worker: source };
}

function decodeLateRule(rule: string): LatenessRule {
  return { maxLatenessMs: Number(rule.slice(1)), onLate: onLateOf(rule[0]!) };
}

/** Or says what is wrong: somebody may have changed them by hand. Headers may hold secrets, so nothing of them is told. */
function decodeSettings(text: string): EnvelopeSettings | string {
  let settings: EnvelopeSettings | null;
  try {
    settings = JSON.parse(text);
  } catch {
    return 'the settings in the envelope are not valid JSON';
  }
  const { maxAttempts = 1, timeoutMs = 0, backoff } = settings ?? { maxAttempts: Number.NaN };
  const { delayMs, maxDelayMs = 0, jitter = 0 } = backoff === undefined ? { delayMs: 0 } : Object(backoff);
  if (![maxAttempts, timeoutMs, delayMs, maxDelayMs, jitter].every(Number.isFinite))
    return 'the settings in the envelope hold something that is no number';
  return settings!;
}
