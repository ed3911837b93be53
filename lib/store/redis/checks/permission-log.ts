import type { Log } from '../../../core/log.js';

/** Logs once which permissions are missing, and once that none is missing any more, however many connections notice. */
export class PermissionLog {
  private told?: string;

  constructor(private readonly log: Log) {}

  missing(user: string, commands: readonly string[]): void {
    const missing = inAcl(commands);
    if (this.told === missing) return;
    this.told = missing;
    this.log.error(
      `The Redis user '${user}' may not run ${commands.length === 1 ? 'a command' : `${commands.length} commands`} that jobs need, so nothing is scheduled or claimed: ACL SETUSER ${user} ${missing}`,
    );
  }

  complete(): void {
    if (this.told === undefined) return;
    this.told = undefined;
    this.log.log('The Redis user may run all commands that jobs need; jobs are scheduled and claimed again.');
  }
}

/** As ACL SETUSER takes them. */
export function inAcl(commands: readonly string[]): string {
  return commands.map((command) => `+${command.toLowerCase()}`).join(' ');
}
