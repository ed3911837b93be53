// What each instance of the module provides to itself, and exports to nobody. A test may put another store in the place of the real one.

/** The module's options, read. */
export const SETTINGS = Symbol('settings');
/** The `JobStore`. */
export const STORE = Symbol('store');
export const FLEET = Symbol('fleet');
export const SOLITUDE = Symbol('solitude');
