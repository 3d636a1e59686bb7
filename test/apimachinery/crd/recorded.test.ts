/**
 * Definitions that a real kube-apiserver (1.20.2, dry run) took or refused, and what it said: `recorded.json`. Where today's
 * releases say something else than 1.20 did, the difference is listed here with its reason.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { defaultCrd, validateCrd } from '../../../src/apimachinery/crd/crd.ts'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { dropNulls } from '../../../src/apiserver/registry/nulls.ts'

interface Recorded {
  name: string
  code: number
  message?: string
  crd: Pick<KubeObject, 'metadata'> & { spec: Record<string, unknown> }
}

/** Values that 1.20 shows as Go does are shown as JSON since 1.33. */
const AS_JSON: [from: string | RegExp, to: string][] = [
  ['map[string]interface {}{"q":1}', '{"q":1}'],
  ['[]string{"k", "k"}', '["k","k"]'],
  ['[]string{"k"}', '["k"]'],
  ['[]string{"v7"}', '["v7"]'],
  ['Invalid value: "null": must be atomic', 'Invalid value: null: must be atomic'],
]
/** Since 1.25 what makes a schema structural is told before what OpenAPI forbids; 1.20 told it after. */
const OTHER_ORDER = new Set(['nested: many', 'nested: list types', 'embedded in metadata'])
const DEVIATIONS: Record<string, string> = {
  columns:
    'a path that cannot be read when objects are shown is refused here, where 1.20 takes it and shows errors later',
}

const file = join(import.meta.dirname, 'recorded.json')
for (const { name, code, message, crd } of JSON.parse(readFileSync(file, 'utf8')) as Recorded[]) {
  t.test(`${code} ${name}`, { skip: DEVIATIONS[name] ?? false }, async t => {
    const object: KubeObject = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...crd }
    dropNulls(object)
    defaultCrd(object)
    const errors = validateCrd(object)
    const said = errors.length === 0 ? undefined : statusError.invalid({ group: '', kind: 'X' }, 'x', errors).message
    const ours = said?.replace(/^X "x" is invalid: /, '')
    const wanted = AS_JSON.reduce((text, [from, to]) => text?.replace(from, to), message)
    if (OTHER_ORDER.has(name)) t.same(sorted(ours), sorted(wanted))
    else t.equal(ours, wanted)
  })
}

/** The errors of a message in order of their text. */
function sorted(message: string | undefined): string[] {
  return (message ?? '')
    .replace(/^\[|\]$/g, '')
    .split(', spec.')
    .map(text => text.replace(/^spec\./, ''))
    .sort()
}
