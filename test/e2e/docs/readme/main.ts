import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Reminders } from './reminders.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  // So that running jobs can finish before the process exits.
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000);
  await app.get(Reminders).remind('ada@example.com', '10s');
}
void bootstrap();
