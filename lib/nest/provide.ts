import type { FactoryProvider, InjectionToken } from '@nestjs/common';

declare const part: unique symbol;

/** A token of which the compiler knows what it stands for. */
export type Token<Part> = symbol & { readonly [part]: Part };

export function tokenOf<Part>(name: string): Token<Part> {
  return Symbol(name) as Token<Part>;
}

type Injected = abstract new (...args: never[]) => unknown;
type PartOf<Of> = Of extends abstract new (
  ...args: never[]
) => infer Instance
  ? Instance
  : Of extends Token<infer Part>
    ? Part
    : never;

/** A provider by a factory, whose parameters have the types of what the tokens stand for. */
export function provide<const Tokens extends readonly (Token<unknown> | Injected)[]>(
  token: InjectionToken,
  inject: Tokens,
  useFactory: (...parts: { -readonly [I in keyof Tokens]: PartOf<Tokens[I]> }) => unknown,
): FactoryProvider {
  return { provide: token, inject: [...inject] as InjectionToken[], useFactory: useFactory as never };
}
