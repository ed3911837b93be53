import type { Job, Timeline } from '../timeline.js';

/** What is wrong, in a sentence. */
export interface Violation {
  rule: string;
  /** The job that it is about. */
  token?: string;
  message: string;
}

export type Rule = (timeline: Timeline) => Violation[];

/** A rule about each job by itself: what it says is wrong with one. */
export function aboutJobs(rule: string, judge: (job: Job, timeline: Timeline) => string[]): Rule {
  return (timeline) =>
    [...timeline.jobs.values()].flatMap((job) =>
      judge(job, timeline).map((message) => ({ rule, token: job.token, message })),
    );
}

/** A rule about each job that has had one life for certain. */
export function aboutLives(rule: string, judge: (job: Job, timeline: Timeline) => string[]): Rule {
  return aboutJobs(rule, (job, timeline) => (job.hasLives ? [] : judge(job, timeline)));
}

/** A rule about the run as a whole. */
export function aboutAll(rule: string, judge: (timeline: Timeline) => string[]): Rule {
  return (timeline) => judge(timeline).map((message) => ({ rule, message }));
}

/** Instants by Redis' clock, to read in a message. */
export function clockTime(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(11, 23) : 'never';
}
