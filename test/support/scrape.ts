import type { Registry, RegistryContentType } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;

/** One line that Prometheus reads. */
export interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

/** What a registry answers to a scrape, line by line. */
export class Scrape {
  private constructor(readonly samples: readonly Sample[]) {}

  static async of(registry: Registry<RegistryContentType>): Promise<Scrape> {
    return Scrape.read(await registry.metrics());
  }

  /** Throws for a line that is none, and for a value that is no finite number. */
  static read(text: string): Scrape {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Scrape(lines.map(readLine));
  }

  /** The values of a metric that have at least these labels. */
  values(name: string, labels: Labels = {}): number[] {
    return this.find(name, labels).map(({ value }) => value);
  }

  /** The one value of a metric with at least these labels; `undefined` where it is missing. Throws where there are several. */
  value(name: string, labels: Labels = {}): number | undefined {
    const [value, ...others] = this.values(name, labels);
    if (others.length > 0) throw new Error(`${name} ${JSON.stringify(labels)} has ${others.length + 1} values.`);
    return value;
  }

  /** What `sum` of Prometheus makes of them. */
  sum(name: string, labels: Labels = {}): number {
    return this.values(name, labels).reduce((all, each) => all + each, 0);
  }

  /** The different values that a label of a metric has. */
  labels(name: string, label: string): string[] {
    return [...new Set(this.find(name, {}).map(({ labels }) => labels[label]!))].sort();
  }

  private find(name: string, wanted: Labels): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(wanted).every(([label, value]) => sample.labels[label] === value),
    );
  }
}

function readLine(line: string): Sample {
  const [, name, inBraces = '', number] = line.match(/^(\w+)(?:\{(.*)\})? (\S+)$/) ?? [];
  const value = Number(number);
  if (name === undefined || !Number.isFinite(value)) throw new Error(`No line of a scrape: ${line}`);
  const labels = [...inBraces.matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map(([, label, text]) => [label, text] as const);
  return { name, labels: Object.fromEntries(labels), value };
}
