"use strict";
(function () {
  // key is what a row is sorted by in a column: a number where every row has one, else text.
  function key(row, column) {
    var cell = row.cells[column];
    return cell.hasAttribute("data-sort") ? cell.getAttribute("data-sort") : cell.textContent.trim();
  }

  function compare(a, b) {
    var x = Number(a), y = Number(b);
    if (a !== "" && b !== "" && !isNaN(x) && !isNaN(y)) { return x - y; }
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function sortBy(table, head) {
    var column = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending", body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows).map(function (row, i) { return { row: row, key: key(row, column), i: i }; });
    rows.sort(function (a, b) { return (down ? -1 : 1) * compare(a.key, b.key) || a.i - b.i; });
    var sorted = document.createDocumentFragment();
    rows.forEach(function (r) { sorted.appendChild(r.row); });
    body.appendChild(sorted);
    Array.prototype.forEach.call(head.parentNode.cells, function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head) {
      if (head.classList.contains("still")) { return; }
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () { sortBy(table, head); });
    });
  });

  var form = document.querySelector("form.filter");
  if (form) {
    var rows = Array.prototype.slice.call(document.querySelectorAll("table.findings tbody tr"));
    var show = function () {
      var wanted = {}, text = form.elements.text.value.trim().toLowerCase(), shown = 0;
      Array.prototype.forEach.call(form.querySelectorAll("input[name=severity]"), function (box) { wanted[box.value] = box.checked; });
      rows.forEach(function (row) {
        var severity = row.getAttribute("data-severity");
        row.hidden = wanted[severity] === false || (text !== "" && row.textContent.toLowerCase().indexOf(text) < 0);
        if (!row.hidden) { shown++; }
      });
      document.getElementById("shown").textContent = shown + " of " + rows.length + " findings are shown.";
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.hidden = false;
    show();
  }

  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { opened.forEach(function (d) { d.open = false; }); });
})();
