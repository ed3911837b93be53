/** What names read that are not told apart. */
export const OTHER_NAMES = 'other';

/** Which names of jobs the label `job` tells apart. */
export interface JobNames {
  /** What a name reads. `''` for an event that tells no name. */
  labelOf(name: string): string;
}

/** `met`: the names that the process tells apart by number; all who count by number share it. */
export function jobNames(chosen: number | readonly string[] | false, met: Set<string>): JobNames {
  if (chosen === false) return { labelOf: () => '' };
  if (typeof chosen === 'number') return new FirstNames(chosen, met);
  const names = new Set(['', ...chosen]);
  return { labelOf: (name) => (names.has(name) ? name : OTHER_NAMES) };
}

/**
 * The first names met keep their label for ever: a counter whose jobs moved to `other` later would stand still, and one that came back from
 * there would jump. A job of that very name is one of the others.
 */
class FirstNames implements JobNames {
  constructor(
    private readonly most: number,
    private readonly met: Set<string>,
  ) {}

  labelOf(name: string): string {
    if (name === '' || this.met.has(name)) return name;
    if (name === OTHER_NAMES || this.met.size >= this.most) return OTHER_NAMES;
    this.met.add(name);
    return name;
  }
}
