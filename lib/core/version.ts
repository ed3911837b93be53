/** Of this package, as in package.json, which a bundled application does not have beside it. */
export const VERSION = '0.1.0';
