/** Work of a thread for `BigYaml`. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { YamlJob, YamlResult } from './bigYaml.ts'
import { parseYamlText } from './yamlBody.ts'

export function bigYamlJob({ text, limits }: YamlJob): YamlResult {
  try {
    const { value, repeated } = parseYamlText(text, limits)
    return { json: JSON.stringify(value ?? null), repeated }
  } catch (error) {
    return { error: messageOf(error) }
  }
}
