/** What the server's own controllers note on objects of users. */
import { CONFLICT_ANNOTATION, CUSTOMIZATION_ERROR_ANNOTATION, EXECUTING_COUNT_ANNOTATION } from './placement.ts'

/** Annotations. They are no part of what an object's author wishes, so they make no new generation of it. */
export const NOTES: readonly string[] = [
  EXECUTING_COUNT_ANNOTATION,
  CUSTOMIZATION_ERROR_ANNOTATION,
  CONFLICT_ANNOTATION,
]
