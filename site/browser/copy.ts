/** Copies a text; without HTTPS by the old way, a selection and `execCommand`. */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    await navigator.clipboard.writeText(text)
    return true
  }
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}

const ICON =
  '<svg class="icon" viewBox="0 0 16 16" width="16" height="16"><rect x="5.5" y="5.5" width="9" height="9" rx="1.5"/><path d="M11 2.5H3A1.5 1.5 0 0 0 1.5 4v7.5"/></svg>'

/** Adds a button to each text to copy, once; pages would have more bytes with them. */
export function addCopyButtons(): void {
  for (const pre of document.querySelectorAll('.readme pre:not(.plain-text, .code-block *)')) {
    const block = document.createElement('div')
    block.className = 'code-block'
    block.dataset.copy = 'code'
    pre.replaceWith(block)
    block.append(pre)
  }
  for (const block of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    const button = document.createElement('button')
    const label = `Copy ${block.dataset.copy}`
    delete block.dataset.copy
    button.className = 'copy'
    button.ariaLabel = label
    button.innerHTML = ICON
    button.addEventListener('click', async () => {
      if (!(await copyText(block.querySelector('pre, code')?.textContent ?? ''))) return
      button.className = 'copy done'
      button.ariaLabel = 'Copied'
      setTimeout(() => {
        button.className = 'copy'
        button.ariaLabel = label
      }, 1500)
    })
    block.append(button)
  }
}
