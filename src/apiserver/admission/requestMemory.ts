/**
 * Forms of a request's object for its readers, until the object changes. A space may have thousands of webhooks and policies that read it,
 * and the form for one is as good for the next.
 */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { AdmissionRequest } from '../registry/admission.ts'

/** By request: each round of changes and the validation have one of their own. */
const memories = new WeakMap<AdmissionRequest, Map<object, unknown>>()

/** `maker`: who remembers it, and for which version of the object. */
export function remembered<T>(request: AdmissionRequest, maker: object, make: () => T): T {
  const memory = getOrInsert(memories, request, () => new Map())
  return getOrInsert(memory, maker, make)
}

/** The object is another now. */
export function forgetRemembered(request: AdmissionRequest): void {
  memories.delete(request)
}
