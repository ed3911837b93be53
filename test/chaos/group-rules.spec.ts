import { describe, expect, it } from '@jest/globals';
import { BACKOFF_MS, LEASE_MS } from './settings.js';
import { Story } from './story.js';

const NOTHING = new Set<string>();
const FAILED_AT = 506;
const AGAIN = FAILED_AT + BACKOFF_MS + 2;

/** A job whose first attempt fails, and whose second one comes after its backoff. */
const failed = () =>
  new Story().grouped('a', 500, { how: 'fail' }).grouped('a', AGAIN, { attempt: 2, dueAt: FAILED_AT + BACKOFF_MS + 1 });

describe('finds nothing wrong', () => {
  it('in a group whose second job begins after the retry of its first one, beside another group', () => {
    const story = failed().grouped('other', 520, { group: 'h' });
    expect(story.grouped('b', AGAIN + 10).endsAsRan()).toEqual(NOTHING);
  });

  it('in a job that runs again a lease after its process died, and before the next of its group', () => {
    const again = 500 + LEASE_MS;
    const story = new Story().grouped('a', 500, { how: undefined }).fault(502, 502, 'w1.1', 'kill');
    story.grouped('a', again, { attempt: 2, dueAt: 499 }).grouped('b', again + 10);
    expect(story.endsAsRan()).toEqual(NOTHING);
  });

  it('in a job that begins once the one before it was cancelled between two attempts', () => {
    const story = new Story().grouped('a', 500, { how: 'fail' });
    story.call(550, { operation: 'cancel', token: 'a', id: 'a' }, { changed: true });
    expect(story.grouped('b', 560).endsAsRan(1)).toEqual(NOTHING);
  });

  it('in a job that begins once the run before it was cancelled, whose handler goes on', () => {
    const story = new Story().grouped('a', 500, { tookMs: 50, cancelledAt: 510 });
    expect(story.grouped('b', 520).endsAsRan(1)).toEqual(NOTHING);
  });

  it('in a job that begins beside a run which a call has cancelled that was under way before it began', () => {
    const story = new Story().grouped('a', 500, { tookMs: 50, cancelledAt: 499 });
    expect(story.grouped('b', 520).endsAsRan(1)).toEqual(NOTHING);
  });
});

describe('finds what is wrong', () => {
  it('a job that begins between two attempts of another one of its group', () => {
    expect(failed().grouped('b', 560).endsAsRan()).toEqual(new Set(['first-begun-first-ended']));
  });

  it('a job that begins while another one of its group runs', () => {
    const story = new Story().grouped('a', 500, { tookMs: 50 }).grouped('b', 520);
    expect(story.endsAsRan()).toEqual(new Set(['within-its-limit', 'first-begun-first-ended']));
  });

  it('a job that begins beside a run which somebody could no longer cancel', () => {
    const story = new Story().grouped('a', 500, { tookMs: 50 });
    story.call(510, { operation: 'cancelRunning', token: 'a', id: 'a' }, { changed: false });
    expect(story.grouped('b', 520).endsAsRan()).toContain('within-its-limit');
  });

  it('a job of a killed process whose place is given away before its lease is over', () => {
    const again = 500 + LEASE_MS;
    const story = new Story().grouped('a', 500, { how: undefined }).fault(502, 502, 'w1.1', 'kill');
    story.grouped('b', again - 100).grouped('a', again, { attempt: 2, dueAt: 499 });
    expect(story.endsAsRan()).toEqual(new Set(['within-its-limit', 'first-begun-first-ended']));
  });

  it('a job that runs in another group', () => {
    expect(new Story().grouped('a', 500, { says: 'h' }).endsAsRan()).toEqual(new Set(['keeps-its-group']));
  });

  it('what is left of a group', () => {
    expect(new Story().ends({ groupKeys: ['groups'] })).toEqual(new Set(['nothing-left-of-groups']));
  });
});
