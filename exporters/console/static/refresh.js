"use strict";
// Shows the page anew without losing what a reader is doing: focus, scroll, opened details, selected text, a form.
(() => {
  const script = document.currentScript;
  const every = Number(script.dataset.every) * 1000;
  const source = script.dataset.source || location.href;
  const lost = document.getElementById("lost");
  const shownAt = () => document.querySelector(".foot time")?.textContent ?? "";

  const busy = () => {
    const main = document.getElementById("main");
    const fields = [...main.querySelectorAll("input, textarea, select")];
    const changed = (field) =>
      field.type === "radio" || field.type === "checkbox"
        ? field.checked !== field.defaultChecked
        : field.tagName === "SELECT"
          ? [...field.options].some((one) => one.selected && !one.defaultSelected && one.index > 0)
          : field.type !== "hidden" && field.value !== field.defaultValue;
    const held = fields.includes(document.activeElement);
    const selection = getSelection();
    const selected = !selection.isCollapsed && main.contains(selection.anchorNode);
    return document.hidden || held || selected || fields.some(changed);
  };

  const place = (element) => {
    const main = document.getElementById("main");
    if (!element || element === main || !main.contains(element)) return null;
    if (element.id) return `#${CSS.escape(element.id)}`;
    if (element.tagName === "A") return `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
    const form = element.closest("form");
    if (form) return `form[action="${CSS.escape(form.getAttribute("action"))}"] ${element.tagName.toLowerCase()}`;
    return element.closest("section") ? `[aria-labelledby="${element.getAttribute("aria-labelledby")}"][tabindex]` : null;
  };

  const swap = (page) => {
    const focused = place(document.activeElement);
    const open = [...document.querySelectorAll("details[open][id]")].map((one) => one.id);
    const scrolled = [...document.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
    const [left, top] = [scrollX, scrollY];
    for (const part of ["main", ".foot"]) {
      const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
      if (fresh && old.innerHTML !== fresh.innerHTML) old.replaceChildren(...fresh.childNodes);
    }
    document.title = page.title;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    document.querySelectorAll(".scroll").forEach((one, at) => scrolled[at] && one.scrollTo(...scrolled[at]));
    if (focused) document.querySelector(`#main ${focused}`)?.focus({ preventScroll: true });
    scrollTo(left, top);
  };

  const renew = async () => {
    if (busy()) return;
    try {
      const answer = await fetch(source, { headers: { accept: "text/html" }, redirect: "error" });
      if (!answer.ok && answer.status !== 410) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      lost.textContent = "";
      if (!busy()) swap(page);
    } catch {
      lost.textContent = `rungwatch does not answer: this page shows ${shownAt()}.`;
    }
  };

  let waiting = false;
  setInterval(async () => {
    if (waiting) return;
    waiting = true;
    await renew();
    waiting = false;
  }, every);
})();
