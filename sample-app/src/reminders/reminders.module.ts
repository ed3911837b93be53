import { Module } from '@nestjs/common';
import { DigestHandlers } from './digest.handlers.js';
import { OpeningReminders } from './opening-reminders.js';
import { ReminderHandlers } from './reminder.handlers.js';
import { RemindersController } from './reminders.controller.js';
import { RemindersService } from './reminders.service.js';

@Module({
  controllers: [RemindersController],
  providers: [RemindersService, ReminderHandlers, DigestHandlers, OpeningReminders],
})
export class RemindersModule {}
