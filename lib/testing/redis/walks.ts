/** Walks that nobody has gone on with are forgotten, the oldest first. */
const MOST_WALKS = 1_000;
const LONGEST_WALK = 1e8;

/**
 * The walks of SCAN commands. Each has a list of what was there when it began, so that it tells everything that stays there all the time,
 * whatever comes and goes meanwhile.
 */
export class Walks {
  private readonly walks = new Map<number, string[]>();
  private begun = 0;

  /** Some names more, and the cursor with which the walk goes on, '0' where it is over. */
  step(cursor: string, count: number, there: () => Iterable<string>): { cursor: string; names: string[] } {
    const [number, from] = cursor === '0' ? this.begin([...there()]) : split(cursor);
    const names = this.walks.get(number) ?? [];
    const end = from + count;
    if (end < names.length) return { cursor: String(number * LONGEST_WALK + end), names: names.slice(from, end) };
    this.walks.delete(number);
    return { cursor: '0', names: names.slice(from) };
  }

  private begin(names: string[]): [number: number, from: number] {
    const number = ++this.begun;
    this.walks.set(number, names);
    const [oldest] = this.walks.keys();
    if (this.walks.size > MOST_WALKS) this.walks.delete(oldest!);
    return [number, 0];
  }
}

function split(cursor: string): [number: number, from: number] {
  const at = Number(cursor);
  return [Math.floor(at / LONGEST_WALK), at % LONGEST_WALK];
}
