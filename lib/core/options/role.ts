/** What a process does with queues: `worker` is the same as `both`, for a process that says which it is. */
export type Role = 'both' | 'producer' | 'worker';
