/** Names for common priorities; any integer from 1 to 1 000 will do, lower is more urgent. */
export const JobPriority = { CRITICAL: 1, HIGH: 2, MEDIUM: 5, LOW: 10, BACKGROUND: 100 } as const;

export const MAX_PRIORITY = 1_000;
