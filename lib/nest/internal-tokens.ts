// What each instance of the module provides to itself, and exports to nobody. A test may put another store and another clock in the place of the real ones.

/** The module's options, read. */
export const SETTINGS = Symbol('settings');
/** The `JobStore`. */
export const STORE = Symbol('store');
/** The `Clock` that all parts of the instance go by. */
export const CLOCK = Symbol('clock');
/** The `ScheduledQueueEvents` of the instance, whatever token they are exported under. */
export const EVENTS = Symbol('events');
/** What runs jobs: a `Fleet`. */
export const FLEET = Symbol('fleet');
export const SUSPECT_ISOLATION = Symbol('suspect isolation');
