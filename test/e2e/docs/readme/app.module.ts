import { Module } from '@nestjs/common';
import { RemindersModule } from './reminders.js';

@Module({
  imports: [RemindersModule],
})
export class AppModule {}
