/** Labels of nodes that have newer names, and what upstream says to those who select by the elder ones. */

import { type Fields, record, records, str, strings } from '../../apimachinery/fields.ts'
import { labelValue } from '../../apimachinery/names.ts'

const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
])

/** `undefined` for labels that are fine. */
export const nodeLabelWarning = (key: string): string | undefined => DEPRECATED.get(key)

/** A label as a field names it. */
export function deprecatedLabel(key: string, field: string): string[] {
  const message = nodeLabelWarning(key)
  return message === undefined ? [] : [`${field}: ${message}`]
}

/** A selector of nodes in the form of label selectors. */
export function selectorWarnings(selector: unknown, path: string): string[] {
  return [
    ...records(selector, 'matchExpressions').flatMap((expression, i) =>
      elderKey(str(expression, 'key'), `${path}.matchExpressions[${i}].key`),
    ),
    ...Object.keys(record(selector, 'matchLabels')).flatMap(key => deprecatedLabel(key, `${path}.matchLabels.${key}`)),
  ]
}

function elderKey(key: string, field: string): string[] {
  const message = nodeLabelWarning(key)
  return message === undefined ? [] : [`${field}: ${key} is ${message}`]
}

/** @param judgeValues whether impossible values of labels give warnings; elsewhere they are errors */
export function termWarnings(term: Fields, path: string, judgeValues: boolean): string[] {
  return records(term, 'matchExpressions').flatMap((expression, i) => {
    const here = `${path}.matchExpressions[${i}]`
    const values = judgeValues ? strings(expression, 'values') : []
    return [
      ...elderKey(str(expression, 'key'), `${here}.key`),
      ...values.flatMap((value, j) =>
        labelValue(value).map(wrong => `${here}.values[${j}]: ${value} is invalid, ${wrong}`),
      ),
    ]
  })
}

const GENERALLY_AVAILABLE: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
])

/** The newer name of a label that got one; `undefined` for others. */
export const newerNodeLabel = (key: string): string | undefined => GENERALLY_AVAILABLE.get(key)
