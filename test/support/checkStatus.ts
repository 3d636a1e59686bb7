/** Rules for every refusal: a Status with the code of the answer, a known reason and a message. */
import { STATUS_REASONS, type Status } from '../../src/apimachinery/errors.ts'

export function checkStatus(body: Record<string, unknown>, code: number, fail: (why: string) => never): void {
  const status = body as Partial<Status>
  if (status.kind !== 'Status' || status.apiVersion !== 'v1' || status.status !== 'Failure') fail('not a Status')
  if (status.code !== code) fail('the code of the Status is not the HTTP code')
  if (typeof status.message !== 'string' || status.message === '') fail('a Status without a message')
  if (!Object.hasOwn(STATUS_REASONS, status.reason ?? '')) fail('a Status without a known reason')
}
