/**
 * - **idle**: nothing is in flight, and nothing will be said before somebody asks. Left by a call, a hint or the party's own work.
 * - **sleeping**: as idle, with an alarm set for when something may be due or has to be renewed.
 * - **talking**: a turn is in flight, or two. Entered when there is something to say; left when all are answered and nothing is left to
 *   say. What comes up meanwhile goes with the next turn.
 * - **paused**: the store has refused a turn. The same turn goes out again after a pause; nothing else does before that.
 * - **leaving**: entered by `leave`. The party's last turn is said as soon as may be, and then what still comes up; a refused turn
 *   pauses for less long. Left when `finish` has waited for all answers, or for long enough.
 * - **closed**: nothing is said any more. An answer that comes all the same is still taken in.
 */
export type TalkState = 'idle' | 'sleeping' | 'talking' | 'paused' | 'leaving' | 'closed';
