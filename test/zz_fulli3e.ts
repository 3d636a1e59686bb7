import { readFileSync } from 'node:fs'
import { defaultCrd, validateCrd } from '../src/apimachinery/crd/crd.ts'
import { statusError } from '../src/apimachinery/errors.ts'
let same = 0
for (const { name, crd, code, message } of JSON.parse(readFileSync('/tmp/fulli3e/kube120.json', 'utf8'))) {
  let ours: string | undefined
  try {
    defaultCrd(crd)
    const errors = validateCrd(crd)
    ours = errors.length ? statusError.invalid({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }, crd.metadata.name, errors).message : undefined
  } catch (e) { ours = `THROWS ${e}` }
  if (ours === message) { same++; continue }
  console.log(`## ${name} ${code}\n  kube: ${message}\n  ours: ${ours}`)
}
console.log('same', same)
