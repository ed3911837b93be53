/** The label of all names that are not told apart. */
export const OTHER_NAMES = 'other';

/** Which names of jobs the label `job` tells apart. */
export interface JobNames {
  /** The label of a name; `name` is `''` for an event that tells none, and so is its label. */
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
 * The first names that the process meets keep their label for ever: if a name moved to `other` later, its own counter would stand still, and
 * that of `other` would jump. A job that is named `other` itself is counted there too.
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
