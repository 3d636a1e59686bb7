/** Common parts of admission steps: the requests that they handle, the changes that concern them, and their refusals. */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { type GroupResource, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Admission, AdmissionRequest } from './admission.ts'

/** The requests that make or change an object of the kind itself. */
export function writesOf(kind: GroupResource): Admission['handles'] {
  return (type, operation, subresource) => operation !== 'DELETE' && subresource === '' && isSameResource(type, kind)
}

/** Whether an update changes a part of its object. */
export function changes(part: (object: Readonly<KubeObject>) => unknown): NonNullable<Admission['concerns']> {
  return ({ object, old }) => !equalJson(part(object), old && part(old))
}

export const specOf = ({ spec }: Readonly<KubeObject>): unknown => spec

export function refused({ type, object }: Pick<AdmissionRequest, 'type' | 'object'>, why: string): StatusError {
  return statusError.forbidden(type, object.metadata.name ?? '', why)
}

export function invalid({ type, object }: AdmissionRequest, problems: readonly FieldError[]): StatusError {
  return statusError.invalid(type, object.metadata.name ?? '', problems)
}

/** @throws StatusError Invalid for problems */
export function requireNone(request: AdmissionRequest, problems: readonly FieldError[] = []): void {
  if (problems.length > 0) throw invalid(request, problems)
}

/** A step that finds faults in a part of a kind's objects. */
export function contentRule(
  kind: GroupResource,
  part: (object: Readonly<KubeObject>) => unknown,
  problemsOf: (request: AdmissionRequest) => readonly FieldError[] | undefined,
): Admission {
  return {
    stage: 'validate',
    handles: writesOf(kind),
    concerns: changes(part),
    admit: request => requireNone(request, problemsOf(request)),
  }
}
