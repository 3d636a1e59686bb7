/** Errors of the counts that controllers report in the status of workloads, in upstream's words and order. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { num, record } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { nonNegative } from '../checks.ts'

interface ReplicaCounts {
  /** None of them may be negative. */
  counts: readonly string[]
  /** None of them may be greater than `replicas`. */
  parts: readonly string[]
}

/** The `validateStatusUpdate` of a kind. */
export function replicaStatus({ counts, parts }: ReplicaCounts): (object: KubeObject) => FieldError[] {
  return object => {
    const status = record(object, 'status')
    const errors = nonNegative(status, 'status', ...counts)
    const most = (name: string, limit: number, what: string): void => {
      if (num(status, name) <= limit) return
      errors.push(fieldError.invalid(`status.${name}`, num(status, name), `cannot be greater than ${what}`))
    }
    for (const name of parts) most(name, num(status, 'replicas'), 'status.replicas')
    if (parts.includes('availableReplicas')) most('availableReplicas', num(status, 'readyReplicas'), 'readyReplicas')
    return errors
  }
}
