/** The `name` of a line of the log is the program's, by which logs of many are told apart; that of the object it is about is `object`. */
import type { LogFields } from '../../../apimachinery/logFields.ts'

export function withObjectName(fields: LogFields): LogFields {
  if (!('name' in fields)) return fields
  const { name, ...rest } = fields
  return { ...rest, object: name }
}
