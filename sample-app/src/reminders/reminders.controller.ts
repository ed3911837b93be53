import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CreateReminderDto } from './create-reminder.dto.js';
import { type Reminder, RemindersService } from './reminders.service.js';

@Controller('reminders')
export class RemindersController {
  constructor(private readonly reminders: RemindersService) {}

  @Post()
  create(@Body() body: CreateReminderDto): Promise<{ id: string; dueAt: Date | null }> {
    return this.reminders.create(body);
  }

  @Get()
  list(): Promise<Reminder[]> {
    return this.reminders.list();
  }

  @Get(':id')
  find(@Param('id') id: string): Promise<Reminder> {
    return this.reminders.find(id);
  }

  @Delete(':id')
  @HttpCode(204)
  cancel(@Param('id') id: string): Promise<void> {
    return this.reminders.cancel(id);
  }
}
