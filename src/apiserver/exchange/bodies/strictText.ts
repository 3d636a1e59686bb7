/**
 * Faults that only the text of a body shows: repeated keys. Reported with the unknown fields, by `fieldValidation`, in upstream's order.
 * Fields of built-in kinds come as in the JSON; for others repetitions come first and unknown fields sorted.
 */
import {
  type RepeatedKey,
  repeatedJsonKeys,
  repeatsKeys,
  strictFindings,
  yamlFindings,
} from '../../../apimachinery/repeatedKeys.ts'
import type { WriteContext } from '../../registry/context.ts'
import { FORMS } from '../../registry/forms.ts'
import type { Exchange } from '../exchange.ts'
import { isYaml } from './body.ts'

/** The context of a write that sends `value` as its body; the same one unless the text repeats keys. */
export function warningOfRepeats(context: WriteContext, exchange: Exchange, value: unknown): WriteContext {
  if (context.fieldValidation === 'Ignore') return context
  const { request, type, info } = exchange
  if (isYaml(request.headers['content-type'])) {
    const lines = yamlFindings(repeatedInYaml(exchange, value))
    if (lines.length === 0) return context
    const strict = context.fieldValidation === 'Strict'
    const repeats = strict ? [`yaml: unmarshal errors:\n  ${lines.join('\n  ')}`] : lines
    return { ...context, findings: unknown => [...repeats, ...inWords(unknown)] }
  }
  const text = jsonText(request, value)
  if (text === undefined) return context
  if (info.verb !== 'patch' && !FORMS[type.form].unstructured) {
    return { ...context, findings: unknown => strictFindings(text, unknown) }
  }
  const repeats = repeatedJsonKeys(text).flatMap(({ path }) => warningsOf(path, Array.isArray(value)))
  return { ...context, findings: unknown => [...repeats, ...inWords(unknown)] }
}

/** Repeated keys of a server-side apply, as `line N: key "k" already set in map`. */
export function repeatedInApply(exchange: Exchange, value: unknown): string[] {
  return yamlFindings(repeatedInYaml(exchange, value))
}

/** JSON under the name of YAML has been read as JSON. */
function repeatedInYaml({ request }: Exchange, value: unknown): readonly RepeatedKey[] {
  if (request.repeatedKeys !== undefined) return request.repeatedKeys
  const text = jsonText(request, value)
  return text === undefined ? [] : repeatedJsonKeys(text)
}

/** The text, if it is JSON and repeats a key. */
function jsonText({ bodyText, repeatsKeys: repeats }: Exchange['request'], value: unknown): string | undefined {
  return bodyText !== undefined && (repeats ?? repeatsKeys(bodyText, value)) ? bodyText : undefined
}

/** Only the operations of a JSON patch are looked at, not their values. */
function warningsOf(path: string, ofPatch: boolean): string[] {
  if (!ofPatch) return [`duplicate field "${path}"`]
  return /^\[\d+\]\.\w+$/.test(path) ? [`json patch duplicate field "${path}"`] : []
}

function inWords(unknown: readonly string[]): string[] {
  return [...unknown].sort().map(path => `unknown field "${path}"`)
}
