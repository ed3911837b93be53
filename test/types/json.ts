// What a handler gets where the definition has no payload class: what JSON makes of the payload.
import type { JsonOf } from 'nestjs-redis-scheduled-queue';

type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const yes = <_Fact extends true>(): void => {};

declare const brand: unique symbol;
type UserId = string & { readonly brand: 'UserId' };
type Cents = number & { readonly [brand]: 'Cents' };

class Money {
  constructor(
    readonly amount: number,
    private readonly secret: string,
  ) {}

  toJSON(): { amount: number; since: Date } {
    return { amount: this.amount + this.secret.length, since: new Date() };
  }
}

class Invoice {
  id!: number;
  dueOn!: Date;
  pay?(): void;
  total(): number {
    return 0;
  }
  readonly map = () => this.id;
}

/** JSON calls it with the key. */
class Keyed {
  toJSON(key: string): string {
    return key;
  }
}

/** As Moment's. */
class Flagged {
  toJSON(keepOffset?: boolean): string {
    return String(keepOffset);
  }
}

interface Tree {
  at: Date;
  parent?: Tree;
  children: Tree[];
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

enum Colour {
  Red = 'red',
}

export function facts(): void {
  // What JSON keeps.
  yes<Is<JsonOf<string>, string>>();
  yes<Is<JsonOf<7 | 'a' | true | null>, 7 | 'a' | true | null>>();
  yes<Is<JsonOf<undefined>, undefined>>();
  yes<Is<JsonOf<UserId>, UserId>>();
  yes<Is<JsonOf<Cents>, Cents>>();
  yes<Is<JsonOf<Colour>, Colour>>();
  yes<Is<JsonOf<`user:${number}`>, `user:${number}`>>();
  yes<Is<JsonOf<unknown>, unknown>>();
  // biome-ignore lint/suspicious/noExplicitAny: it stays what it is
  yes<Is<JsonOf<any>, any>>();
  yes<Is<JsonOf<never>, never>>();

  // What has a form of its own.
  yes<Is<JsonOf<Date>, string>>();
  yes<Is<JsonOf<{ a: Keyed; b: Flagged }>, { a: string; b: string }>>();
  yes<Is<JsonOf<Date | null | undefined>, string | null | undefined>>();
  yes<Is<JsonOf<URL>, string>>();
  yes<Is<JsonOf<Money>, { amount: number; since: string }>>();
  yes<Is<JsonOf<Buffer>, { type: 'Buffer'; data: number[] }>>();

  // What it leaves behind.
  yes<Is<JsonOf<Invoice>, { id: number; dueOn: string }>>();
  yes<Is<JsonOf<{ a: number; [brand]: 1; b: symbol; c: () => void }>, { a: number }>>();
  yes<Is<JsonOf<bigint | 'a'>, 'a'>>();
  yes<Is<JsonOf<{ m: Map<string, number>; s: Set<number> }>, { m: Record<string, never>; s: Record<string, never> }>>();

  // Optional and readonly, at any depth; properties that may be undefined, or never are there.
  yes<
    Is<JsonOf<{ readonly a?: Date; b: { readonly c?: Date } }>, { readonly a?: string; b: { readonly c?: string } }>
  >();
  yes<
    Is<JsonOf<{ a: Date | undefined; b?: never; c: undefined }>, { a: string | undefined; b?: never; c: undefined }>
  >();
  // biome-ignore lint/suspicious/noExplicitAny: it stays what it is
  yes<Is<JsonOf<{ a: any; b: unknown }>, { a: any; b: unknown }>>();

  // Lists, tuples, records and unions.
  yes<Is<JsonOf<Date[]>, string[]>>();
  yes<Is<JsonOf<readonly Date[]>, readonly string[]>>();
  yes<Is<JsonOf<[Date, ...rest: Money[]]>, [string, ...rest: { amount: number; since: string }[]]>>();
  yes<Is<JsonOf<readonly [first: Date, second: 1]>, readonly [first: string, second: 1]>>();
  // In a list JSON writes null for what it leaves out of an object.
  yes<Is<JsonOf<(Date | undefined)[]>, (string | null)[]>>();
  yes<Is<JsonOf<[() => void, symbol | number, at?: Date]>, [null, number | null, at?: string | null]>>();
  yes<Is<JsonOf<Record<string, Date>>, { [x: string]: string }>>();
  yes<Is<JsonOf<Partial<Record<'a' | 'b', Date>>>, { a?: string; b?: string }>>();
  yes<
    Is<JsonOf<{ kind: 'a'; at: Date } | { kind: 'b'; b?: never }>, { kind: 'a'; at: string } | { kind: 'b'; b?: never }>
  >();
}

/** Recursive types come to an end, and what is recursive and JSON already is what it was. */
export function recursion(
  tree: JsonOf<Tree>,
  json: JsonOf<Json>,
): [string, string | undefined, string | undefined, Json] {
  return [tree.at, tree.parent?.parent?.at, tree.children[0]?.children[0]?.children[0]?.at, json];
}
