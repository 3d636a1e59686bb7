/** The thread of `BigYaml`. */
import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { YamlJob, YamlResult } from './bigYaml.ts'
import { parseYamlText } from './yamlBody.ts'

parentPort!.on('message', ({ text, limits }: YamlJob) => parentPort!.postMessage(read(text, limits)))

function read(text: string, limits: YamlJob['limits']): YamlResult {
  try {
    const { value, repeated } = parseYamlText(text, limits)
    return { json: JSON.stringify(value ?? null), repeated }
  } catch (error) {
    return { error: messageOf(error) }
  }
}
