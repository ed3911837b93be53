// What the application of the examples brings along: a mailer, and the shape of @nestjs/config, whose `getOrThrow`
// answers `any` unless it is told more.
import { Injectable } from '@nestjs/common';

@Injectable()
export class Mailer {
  async send(_to: string, _options: { signal: AbortSignal }): Promise<void> {}
}

@Injectable()
export class ConfigService {
  // biome-ignore lint/suspicious/noExplicitAny: as @nestjs/config has it
  getOrThrow<T = any>(name: string): T {
    return process.env[name] as T;
  }
}
