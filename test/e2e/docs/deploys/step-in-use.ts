import {
  ScheduledJobDefinition,
  ScheduledQueueInspector,
} from 'nestjs-redis-scheduled-queue';

/** Why the steps of versions below this one must stay; `undefined` where they may be deleted. */
export async function whyStepsStay(
  inspector: ScheduledQueueInspector,
  { name, queue }: ScheduledJobDefinition,
  below: number,
): Promise<string | undefined> {
  const used = (await inspector.versions(name, { queue })).filter(
    ({ version }) => version < below,
  );
  const told = used.map(
    ({ version, waiting, active, dead, recurrences }) =>
      `version ${version}: ${waiting + active} jobs, ${dead} dead ones, ${recurrences} recurrences`,
  );
  return told.length > 0 ? told.join('; ') : undefined;
}
