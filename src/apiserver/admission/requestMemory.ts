/**
 * What was made of a request's object for those who look at it, until the object changes: a space may have thousands of webhooks and
 * policies that do, and what is made for one is as good for the next.
 */
import type { AdmissionRequest } from '../registry/admission.ts'

/** By request: each round of changes and the validation have one of their own. */
const memories = new WeakMap<AdmissionRequest, Map<object, unknown>>()

/** `maker`: who remembers it, and for which version of the object. */
export function remembered<T>(request: AdmissionRequest, maker: object, make: () => T): T {
  const memory = memories.get(request) ?? new Map<object, unknown>()
  memories.set(request, memory)
  if (!memory.has(maker)) memory.set(maker, make())
  return memory.get(maker) as T
}

/** The object is another now. */
export function forgetRemembered(request: AdmissionRequest): void {
  memories.delete(request)
}
