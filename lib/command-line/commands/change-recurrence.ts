import { type Answer, type Call, changedAnswer, EXIT } from '../command.js';

const CHANGES = {
  run: {
    done: 'One more job of it is due now.',
    expected: '',
    act: async ({ instance: { producer }, queue }: Call, id: string) =>
      (await producer.runRecurrenceNow({ id, queue })).created,
  },
  pause: {
    done: 'It is paused, until it is resumed.',
    expected: 'an active one',
    act: ({ instance: { producer }, queue }: Call, id: string) => producer.pauseRecurrence({ id, queue }),
  },
  resume: {
    done: 'It goes on with its next instant.',
    expected: 'a paused one',
    act: ({ instance: { producer }, queue }: Call, id: string) => producer.resumeRecurrence({ id, queue }),
  },
};

/** Changes the recurrence of `--recurrence`. */
export async function changeRecurrence(call: Call, change: keyof typeof CHANGES): Promise<Answer> {
  const { queue, options, instance, next } = call;
  const id = options.recurrence!;
  const { done, expected, act } = CHANGES[change];
  const found = await instance.producer.recurrence({ id, queue });
  const commands = next(['The recurrences', 'recurrences', queue]);
  if (found && (await act(call, id))) return changedAnswer(1, `${done}\n\n${commands}`);
  const note = found
    ? `Recurrence '${id}' of queue '${queue}' is ${found.state}, expected ${expected}.`
    : `Queue '${queue}' has no recurrence '${id}'.`;
  return changedAnswer(0, commands, { notes: [note], code: EXIT.missed });
}
