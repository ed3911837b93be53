// What each instance of the module provides to itself, and exports to nobody. A test may put another store and another clock in the place of the real ones.

/** The module's options, read. */
export const SETTINGS = Symbol('settings');
/** The `JobStore`. */
export const STORE = Symbol('store');
/** The `Clock` that all parts of the instance go by. */
export const CLOCK = Symbol('clock');
export const FLEET = Symbol('fleet');
export const SOLITUDE = Symbol('solitude');
