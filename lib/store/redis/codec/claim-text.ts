/** The claim of a job: scripts/parts/claim.lua tells what each of these means. */
export interface Claim {
  readonly fence: string;
  readonly marks: string;
  readonly attempt: number;
  readonly crashes: number;
  readonly dueAtMs: number;
  readonly holder: string;
  readonly lane: string;
  readonly progress?: string;
}

/** Of a job that nobody has claimed. */
const NONE: Claim = { fence: '0', marks: '', attempt: 0, crashes: 0, dueAtMs: 0, holder: '-', lane: '' };

/** Also of none, and of one that somebody has damaged. */
export function decodeClaim(text: string): Claim {
  // JSON of a report may hold U+2028, which a dot does not match.
  const parts = /^(\d+)([a-z]*) (\d+) (\d+) (\d+) (\S+) ([^\t\n]*)[^\n]*(?:\n([^\n]*))?$/.exec(text);
  if (!parts) return NONE;
  const [, fence, marks, attempt, crashes, due, holder, lane, progress] = parts as unknown as string[];
  return {
    fence: fence!,
    marks: marks!,
    attempt: Number(attempt),
    crashes: Number(crashes),
    dueAtMs: Number(due),
    holder: holder!,
    lane: lane!,
    ...(progress !== undefined && { progress }),
  };
}
