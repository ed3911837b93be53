import { Type } from 'class-transformer';
import { IsNumber, IsOptional, IsString, Length, Min } from 'class-validator';

/** The body of POST /reminders: a text, and when. Neither `at` nor `inSeconds` means now. */
export class CreateReminderDto {
  @IsString()
  @Length(1, 500)
  text!: string;

  /** ISO 8601 with time and `Z` or offset. */
  @IsOptional()
  @IsString()
  at?: string;

  @IsOptional()
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  inSeconds?: number;
}
