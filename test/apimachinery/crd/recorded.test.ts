/** Definitions that a real apiextensions-apiserver (1.36.4, dry run) accepted or refused, with its answers: `recorded.json`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { defaultCrd, validateCrd } from '../../../src/apimachinery/crd/crd.ts'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { validateObjectMeta } from '../../../src/apimachinery/objectMeta.ts'
import { dropNulls } from '../../../src/apiserver/registry/nulls.ts'

interface Recorded {
  name: string
  code: number
  message?: string
  crd: Pick<KubeObject, 'metadata'> & { spec: Record<string, unknown> }
}

const file = join(import.meta.dirname, 'recorded.json')
for (const { name, code, message, crd } of JSON.parse(readFileSync(file, 'utf8')) as Recorded[]) {
  t.test(`${code} ${name}`, async t => {
    const object: KubeObject = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...crd }
    dropNulls(object)
    defaultCrd(object)
    const errors = [...validateObjectMeta(object.metadata, { namespaced: false }), ...validateCrd(object)]
    const said = errors.length === 0 ? undefined : statusError.invalid({ group: '', kind: 'X' }, 'x', errors).message
    t.equal(said?.replace(/^X "x" is invalid: /, ''), message)
  })
}
