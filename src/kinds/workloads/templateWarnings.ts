/** Upstream's warnings for kinds that make pods. */
import { dns1123Label } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'

/** The name of a new object that its pods will carry as theirs. */
export function surprisingName(object: KubeObject): string[] {
  const problems = dns1123Label(object.metadata.name ?? '')
  if (problems.length === 0) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ]
}
