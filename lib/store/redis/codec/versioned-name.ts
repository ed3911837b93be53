import { FIRST_VERSION, type VersionRange } from '../../../core/job/job-versions.js';

/** Between name and version. No name has this character, as it is not printable; nor has a tag or an id. The scripts know it. */
export const BEFORE_VERSION = '\x1f';

/** A name as lanes and crews have it: of version 1 as it is, of others with the version behind it. */
export function versionedName(name: string, version = FIRST_VERSION): string {
  return version === FIRST_VERSION ? name : `${name}${BEFORE_VERSION}${version}`;
}

/** `version` is missing for 1. */
export function readVersionedName(text: string): { name: string; version?: number } {
  const end = text.indexOf(BEFORE_VERSION);
  return end < 0 ? { name: text } : { name: text.slice(0, end), version: Number(text.slice(end + 1)) };
}

/** All that a session handles: each version of each name. */
export function versionedNames(names: readonly string[], versions?: ReadonlyMap<string, VersionRange>): string[] {
  return names.flatMap((name) => {
    const { first, last } = versions?.get(name) ?? { first: FIRST_VERSION, last: FIRST_VERSION };
    return Array.from({ length: last - first + 1 }, (_, i) => versionedName(name, first + i));
  });
}

/** The names alone, each once. */
export function withoutVersions(versioned: readonly string[]): string[] {
  return [...new Set(versioned.map((text) => readVersionedName(text).name))];
}
