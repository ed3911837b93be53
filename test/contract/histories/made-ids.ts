/** Ids that a store makes: each store, and each process, makes others, in the same order. */
export class MadeIds {
  private readonly labels = new Map<string, string>();
  private readonly ids = new Map<string, string>();

  note(id: string, label: string): void {
    this.labels.set(id, label);
    this.ids.set(label, id);
  }

  /** The same with a label in the place of each made id. */
  toLabels<T>(value: T): T {
    return this.map(value, (text) => this.labels.get(text) ?? text);
  }

  toIds<T>(value: T): T {
    return this.map(value, (text) => this.ids.get(text) ?? text);
  }

  private map<T>(value: T, translate: (text: string) => string): T {
    if (typeof value === 'string') return translate(value) as T;
    if (Array.isArray(value)) return value.map((item) => this.map(item, translate)) as T;
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.map(item, translate)])) as T;
  }
}

/** What a schedule answers, if it is one of these answers: of one job, or of many. */
export function createdAmong(answer: unknown): { id: string; index: number }[] {
  const answers = (Array.isArray(answer) ? answer : [answer]) as ({ id?: string; status?: string } | undefined)[];
  return answers.flatMap((each, index) => (each?.status === 'created' && each.id ? [{ id: each.id, index }] : []));
}
